from ipaddress import ip_network

import pytest

from rules import addresses

REFUSED = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.1.2.3",
    "168.63.129.16",
    "169.254.169.254", "169.254.170.2", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.1.1.1",
    "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b::808:808", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:2::1",
    "2001:db8::1", "2002:7f00:1::", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254",
    "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "4000::1", "8000::1",
]  # fmt: skip
ALLOWED = [
    "1.1.1.1", "8.8.8.8", "9.9.9.9", "11.0.0.1", "100.63.255.255", "100.128.0.1", "126.255.255.255",
    "128.0.0.1",
    "172.15.255.255", "172.32.0.1", "192.167.1.1", "198.17.255.255", "198.20.0.1", "223.255.255.255",
    "2001:4860:4860::8888", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e",
]  # fmt: skip


@pytest.mark.parametrize("address", REFUSED)
def test_what_is_not_the_public_internet_is_refused(address):
    assert addresses.refusal(address)


@pytest.mark.parametrize("address", ALLOWED)
def test_public_addresses_are_allowed(address):
    assert addresses.refusal(address) is None


@pytest.mark.parametrize("network", addresses.REFUSED)
def test_both_ends_of_every_refused_network_are_refused(network):
    assert addresses.refusal(ip_network(network)[0])
    assert addresses.refusal(ip_network(network)[-1])


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/hook",
        "ftp://example.com/",
        "//example.com/",
        "example.com/hook",
        "https://",
        "https:///hook",
        "https://user@example.com/",
        "https://user:password@example.com/",
        "https://:@example.com/",
        "https://example.com:0/",
        "https://example.com:22/",
        "https://example.com:99999/",
        "https://example.com:x/",
        "https://[::1/",
        "https://[::1]/",
        "https://127.0.0.1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::ffff:10.0.0.1]/",
        "https://exa mple.com/",
        "https://example.com/\r\nHost: other",
        "https://example.com\\@other/",
        "https://example.com/" + "a" * 2000,
        "",
    ],
)
def test_urls_that_deliveries_cannot_go_to_are_refused(url):
    with pytest.raises(ValueError, match=r"URL|address"):
        addresses.check_url(url, allow_private=False)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/hook?a=b",
        "https://example.com:8443/",
        "https://1.1.1.1/",
        "https://bücher.example/",
    ],
)
def test_ordinary_urls_are_taken(url):
    assert addresses.check_url(url, allow_private=False).hostname


@pytest.mark.parametrize("url", ["http://127.0.0.1:9000/hook", "https://localhost/", "http://[::1]:80/"])
def test_development_lifts_the_scheme_and_the_ranges(url):
    assert addresses.check_url(url, allow_private=True).hostname


@pytest.mark.parametrize("url", ["http://me@127.0.0.1/", "file:///etc/passwd", "http://localhost:0/"])
def test_development_lifts_nothing_else(url):
    with pytest.raises(ValueError, match="URL"):
        addresses.check_url(url, allow_private=True)
