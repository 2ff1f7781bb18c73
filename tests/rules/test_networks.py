import pytest

from rules import networks


@pytest.mark.parametrize(("address", "counts_as"), [
    ("203.0.113.9", "203.0.113.9"), ("::ffff:203.0.113.9", "203.0.113.9"), ("::ffff:cb00:7109", "203.0.113.9"),
    ("2001:db8::9", "2001:db8::/64"), ("2001:0DB8:0:0:ffff:ffff:ffff:ffff", "2001:db8::/64"),
    ("[2001:db8::9]:4711", "2001:db8::/64"), ("2001:db8:0:1::9", "2001:db8:0:1::/64"), ("fe80::9%eth0", "fe80::/64"),
    ("::1", "::/64"), ("testclient", "testclient"), ("", ""),
])  # fmt: skip
def test_an_address_of_ipv6_counts_as_its_network_of_64_bits(address: str, counts_as: str) -> None:
    assert networks.counts_as(address) == counts_as
