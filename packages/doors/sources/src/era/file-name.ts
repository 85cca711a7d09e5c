import type { Chain } from '@chainstead/chains';

export type EraFormat = 'era1' | 'ere' | 'e2hs';

export interface EraFileName {
  readonly network: string;
  readonly epoch: number;
  readonly format: EraFormat;
}

const NAME =
  /^(?<network>[a-z0-9_-]+)-(?<epoch>\d{5})-[0-9a-f]{8}(?:-noproofs)?(?:-noreceipts)?\.(?<format>era1|ere|e2hs)$/;

/** Names of public files. Other chains use their key. */
const NETWORKS: ReadonlyMap<number, string> = new Map([
  [1, 'mainnet'],
  [11_155_111, 'sepolia'],
  [17_000, 'holesky'],
  [560_048, 'hoodi'],
]);

/** Null: not an era file. */
export function parseEraFileName(name: string): EraFileName | null {
  const { network, epoch, format } = NAME.exec(name)?.groups ?? {};
  if (network === undefined || epoch === undefined || format === undefined) return null;
  return { network, epoch: Number(epoch), format: format as EraFormat };
}

export function eraNetwork({ id, key }: Pick<Chain, 'id' | 'key'>): string {
  return NETWORKS.get(id) ?? key;
}
