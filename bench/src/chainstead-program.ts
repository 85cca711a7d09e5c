import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type MeasuredProcess, startProcess } from './measured-process.ts';

/** Where a process of the program works. */
export interface ProgramPlace {
  readonly databaseUrl: string;
  readonly rpcUrls: readonly string[];
  /** More configuration keys. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Stores the same as the peers: the program would also write NFTs. */
export const ERC20_ONLY = { DATASETS: 'erc20-transfers' } as const;

const PACK = fileURLToPath(new URL('../../scripts/pack.ts', import.meta.url));
const PROGRAM = fileURLToPath(new URL('../../build/package/bin/chainstead.js', import.meta.url));

/** Makes the program as it is published, which starts in half the time of the sources. Takes some seconds. */
export function makePackage(): void {
  execFileSync(process.execPath, [PACK], { stdio: 'ignore' });
}

/** Runs the program with its defaults unless `env` has a setting, on the benchmark's chain as `eth`. */
export function startChainstead(args: readonly string[], place: ProgramPlace): MeasuredProcess {
  const env = {
    DATABASE_URL: place.databaseUrl,
    CHAINS: 'eth',
    RPC_URLS_ETH: place.rpcUrls.join(','),
    ...place.env,
  };
  return startProcess({ args: [PROGRAM, ...args], env });
}
