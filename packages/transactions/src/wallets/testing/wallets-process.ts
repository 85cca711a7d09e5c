/** Roles in a process of their own, for tests that kill it. Its only argument is {@link WalletsProcessOptions}. */
import { silentLogger } from '@chainstead/core';
import { openDatabase } from '@chainstead/db';
import { stageChain, stagePool, startRoles } from './wallet-stage.ts';

export interface WalletsProcessOptions {
  readonly databaseUrl: string;
  readonly chainId: number;
  readonly nodeUrl: string;
}

const { databaseUrl, chainId, nodeUrl }: WalletsProcessOptions = JSON.parse(process.argv[2] ?? '');
const database = openDatabase({ url: databaseUrl, applicationName: 'wallets', poolSize: 8, logger: silentLogger() });
const chain = stageChain(chainId);
await startRoles({ database, databaseUrl, chain, pool: await stagePool(chain, [nodeUrl]), sliceMs: 300 });
process.stdout.write('working\n');
