"""What one client address holds open in this process, and how much of it one may: connections, and bytes of bodies."""


class Share:
    """So much of something for each address; belongs to one event loop."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.held: dict[str, int] = {}

    def take(self, address: str, amount: int = 1) -> bool:
        """Take some more, or say that it would be too much."""
        held = self.held.get(address, 0) + amount
        if held > self.most:
            return False
        self.held[address] = held
        return True

    def give_back(self, address: str, amount: int = 1) -> None:
        """Hold so much less."""
        self.held[address] -= amount
        if not self.held[address]:
            del self.held[address]


connections, bodies = Share(512), Share(64 << 20)
proxies: tuple[str, ...] = ()


def configure(*, most_connections: int, most_body_bytes: int, trusted_proxies: tuple[str, ...]) -> None:
    """Set the shares; trusted proxies have as many connections as they like, for they are everybody."""
    global proxies
    connections.most, bodies.most, proxies = most_connections, most_body_bytes, trusted_proxies
