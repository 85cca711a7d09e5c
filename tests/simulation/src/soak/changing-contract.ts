/** A contract that is added and removed again and again while a soak runs. Its rows must be whole in the end. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, errorText } from '@chainstead/core';
import { type Database, sql } from '@chainstead/db';
import { type ScriptedChain, startProgram } from '@chainstead/testkit';
import { CHAIN_KEY } from '../simulated-chain.ts';

export interface ChangingContract {
  /** How often it was added. */
  readonly added: number;
  /** Adds it for the last time. @returns faults of commands and of its rows */
  finish(): Promise<readonly string[]>;
}

const NAME = 'changing';
const CHANGE_EVERY_MS = 30_000;
const DRAIN_TIMEOUT_MS = 60_000;
const POLL_MS = 500;
const ABI = [
  {
    type: 'event',
    name: 'Transfer',
    inputs: [
      { type: 'address', name: 'from', indexed: true },
      { type: 'address', name: 'to', indexed: true },
      { type: 'uint256', name: 'value' },
    ],
  },
];

/** @param environment settings of the program, for its commands */
export async function changeContract(
  chain: ScriptedChain,
  database: Database,
  environment: Readonly<Record<string, string>>,
  clock: Clock,
): Promise<ChangingContract> {
  const address = chain.tokens.find(({ kind }) => kind === 'erc20')?.address;
  if (address === undefined) throw new Error('The scripted chain has no ERC-20 token');
  const folder = await mkdtemp(join(tmpdir(), 'soak-'));
  const abi = join(folder, `${NAME}.json`);
  await writeFile(abi, JSON.stringify(ABI));
  const ending = Promise.withResolvers<void>();
  const faults: string[] = [];
  let added = 0;
  let isEnded = false;

  async function run(...args: string[]): Promise<void> {
    const command = startProgram(['contracts', ...args, '--chain', CHAIN_KEY], { environment });
    const code = await command.exited;
    if (code !== 0) faults.push(`contracts ${args[0]} ended with ${code}: ${command.output().slice(-500)}`);
  }
  const add = async (): Promise<void> => {
    await run('add', NAME, '--address', address, '--abi', abi, '--from', '1');
    added++;
  };
  const changes = (async () => {
    while (!isEnded) {
      await add();
      await Promise.race([clock.sleep(CHANGE_EVERY_MS), ending.promise]);
      await run('remove', NAME);
      if (!isEnded) await Promise.race([clock.sleep(CHANGE_EVERY_MS / 2), ending.promise]);
    }
  })().catch((error: unknown) => void faults.push(errorText(error)));

  return {
    get added() {
      return added;
    },
    async finish() {
      isEnded = true;
      ending.resolve();
      await changes;
      await add();
      await rm(folder, { recursive: true });
      for (const deadline = clock.now() + DRAIN_TIMEOUT_MS; ; await clock.sleep(POLL_MS)) {
        const wrong = await wrongRows(chain, database, address);
        if (wrong.length === 0 || clock.now() > deadline) return [...faults, ...wrong];
      }
    },
  };
}

/** Compares with what the chain meant: it also has logs of that address that no ERC-20 decoder reads. */
async function wrongRows(chain: ScriptedChain, database: Database, address: string): Promise<readonly string[]> {
  const rows = await database.query<{ place: string }>(
    sql`SELECT block_number || '/' || log_index AS place FROM contracts.changing_transfer`,
  );
  const stored = new Set(rows.map(({ place }) => place));
  const range = { from: 1, to: chain.head };
  const expected = chain.expectedTransfers(range).filter(({ token }) => token === address);
  const missing = expected.filter(({ blockNumber, logIndex }) => !stored.has(`${blockNumber}/${logIndex}`));
  return [
    ...(missing.length === 0
      ? []
      : [`the added contract lacks ${missing.length} of ${expected.length} transfers`]),
    ...(rows.length === stored.size ? [] : [`the added contract has ${rows.length - stored.size} rows twice`]),
  ];
}
