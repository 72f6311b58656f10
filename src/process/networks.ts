import ip from 'ipaddr.js';

/** A network: its address and the length of its prefix. */
export type Network = [address: ip.IPv4 | ip.IPv6, bits: number];

/**
 * Reads a list of addresses and networks, such as `196.201.214.200,196.201.212.0/24`.
 * @throws Error that says what is accepted
 */
export function networksFromText(text: string): readonly Network[] {
  const items = text.split(',').map((item) => item.trim());
  if (items.every(isNetwork)) return items.map(networkOf);
  throw new Error('must be a list of IP addresses and networks, such as 196.201.212.0/24');
}

/** Tells whether an address lies in one of the networks. IPv4 in IPv6 counts as IPv4. */
export function isInNetworks(address: string | undefined, networks: readonly Network[]): boolean {
  if (address === undefined || !ip.isValid(address)) return false;
  const known = ip.process(address);
  return networks.some(
    ([network, bits]) => network.kind() === known.kind() && known.match(network, bits),
  );
}

function isNetwork(item: string): boolean {
  return item.includes('/') ? ip.isValidCIDR(item) : ip.isValid(item);
}

function networkOf(item: string): Network {
  if (item.includes('/')) return ip.parseCIDR(item);
  const address = ip.process(item);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}
