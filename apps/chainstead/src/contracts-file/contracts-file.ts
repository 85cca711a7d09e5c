import { readFile, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { ChainRegistry } from '@chainstead/chains';
import {
  addContract,
  ContractRefusedError,
  childFrom,
  parseLogPlace,
  type WantedContract,
} from '@chainstead/contracts/datasets';
import {
  type Clock,
  defineError,
  errorText,
  isAddress,
  type Logger,
  parseAddress,
  sleepUnlessAborted,
} from '@chainstead/core';
import type { Database } from '@chainstead/db';
import { type AuditActor, START_ACTOR } from '@chainstead/http/audit-log';
import { parse } from 'yaml';
import { z } from 'zod';

export class ContractsFileError extends defineError(
  'CONTRACTS_FILE_INVALID',
  (path: string, problems: readonly string[]) => ({
    message: `The contracts in ${path} can't be used: ${problems.slice(0, PROBLEMS_SHOWN).join('; ')}`,
    facts: { path, problems: problems.length },
    remedy:
      'Correct the file. docs/concepts/contracts.md shows an example, and editors check it by its JSON schema',
  }),
) {}

const PROBLEMS_SHOWN = 10;
const CONTRACTS_MAX = 1_000;
const ADDRESSES_MAX = 1_000;
const FILE_BYTES_MAX = 1024 * 1024;
const ABI_BYTES_MAX = 10 * 1024 * 1024;

const LOG_PLACE = /^\d{1,15}:\d{1,9}$/;

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'is no address (0x and 40 hexadecimal digits)');
const addresses = z.array(address).min(1).max(ADDRESSES_MAX);

const factory = z
  .strictObject({
    addresses: addresses.optional().describe('Addresses of the factories'),
    of: z
      .string()
      .optional()
      .describe('Contract of this file or of the database whose children are the factories'),
    event: z.string().describe('Declaration of the event that names a child, with the names of its parameters'),
    child: z.string().describe('Parameter of the event with the address of the child'),
    child_from: childFrom
      .optional()
      .describe('Start of the events of a child: transaction or block of the factory event, or that log'),
  })
  .refine((one) => (one.addresses === undefined) !== (one.of === undefined), 'needs either addresses or of');

const contract = z
  .strictObject({
    name: z.string().describe('Tables are named contracts.<name>_<event>'),
    chain: z.string().describe('Name or ID of the chain'),
    abi: z
      .string()
      .describe('Path of a JSON file with the ABI, or of an artifact. Relative paths start at this file'),
    addresses: addresses.optional().describe('Addresses that emit the events'),
    factory: factory.optional().describe('Factory whose children emit the events'),
    from: z.int().min(0).optional().describe("First block. Default: the first block of the chain's history"),
    events: z
      .array(z.string())
      .min(1)
      .optional()
      .describe('Names or signatures of events. Default: all of the ABI'),
    calls: z
      .boolean()
      .optional()
      .describe('Whether calls of functions that change state get tables. Default: false'),
    upgrade: z
      .string()
      .regex(LOG_PLACE, 'is no place of a log (block:log index)')
      .optional()
      .describe(
        'Block and log index since which events have the form of this ABI, if the number of indexed parameters stays',
      ),
    implementation: address
      .optional()
      .describe('Implementation of the proxies with this ABI: it counts from the log Upgraded that names it'),
    index: z.array(z.string()).optional().describe('Parameters that get an index, and can then be filtered by'),
  })
  .refine(
    (one) => (one.addresses === undefined) !== (one.factory === undefined),
    'needs either addresses or factory',
  );

const contractsFile = z.strictObject({
  contracts: z.array(contract).max(CONTRACTS_MAX).describe('Contracts to index'),
});

type GivenContract = z.output<typeof contract>;

export function contractsFileSchema(): object {
  return { title: 'Contracts of Chainstead', ...z.toJSONSchema(contractsFile, { io: 'input' }) };
}

export async function readContractsFile(
  path: string,
  chains: Pick<ChainRegistry, 'find'>,
): Promise<readonly WantedContract[]> {
  const given = parseContracts(path, await readText(path, path, FILE_BYTES_MAX));
  const problems: string[] = [];
  const wanted: WantedContract[] = [];
  for (const [index, one] of given.entries()) {
    const chain = chains.find(one.chain);
    if (chain === null) problems.push(`contracts[${index}].chain: ${one.chain} is not a known chain`);
    const abi: unknown = await readText(path, resolve(dirname(path), one.abi), ABI_BYTES_MAX)
      .then(JSON.parse)
      .catch((error: unknown) => {
        problems.push(`contracts[${index}].abi: ${errorText(error)}`);
        return null;
      });
    if (chain !== null && abi !== null) wanted.push({ ...wantedOf(one), chain, abi });
  }
  if (problems.length > 0) throw new ContractsFileError(path, problems);
  return wanted;
}

function parseContracts(path: string, text: string): readonly GivenContract[] {
  const parsed = contractsFile.safeParse(parseYaml(path, text));
  if (parsed.success) return parsed.data.contracts;
  const problems = parsed.error.issues.map(({ path: parts, message }) => {
    const names = parts.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
    return `${names.join('').replace(/^\./, '')}: ${message}`;
  });
  throw new ContractsFileError(path, problems);
}

function parseYaml(path: string, text: string): unknown {
  try {
    // Nested aliases expand without limit.
    return parse(text, { maxAliasCount: 0 });
  } catch (error) {
    throw new ContractsFileError(path, [errorText(error)]);
  }
}

function wantedOf(given: GivenContract): Omit<WantedContract, 'chain' | 'abi'> {
  const { name, from = null, events = null, index: indexed = [], calls = false, upgrade, implementation } = given;
  const { event, child, child_from: childSince, of = null } = given.factory ?? {};
  return {
    ...{ name, firstBlock: from, events, indexed, calls },
    addresses: (given.factory ?? given).addresses?.filter(isAddress).map(parseAddress) ?? [],
    factory: event === undefined || child === undefined ? null : { of, event, child, childFrom: childSince },
    upgrade: upgrade === undefined ? null : parseLogPlace(upgrade),
    implementation: implementation === undefined ? null : parseAddress(implementation),
  };
}

async function readText(path: string, read: string, bytesMax: number): Promise<string> {
  const { size } = await stat(read).catch((error: unknown) => {
    throw new ContractsFileError(path, [`${read} can't be read: ${errorText(error)}`]);
  });
  if (size > bytesMax) throw new ContractsFileError(path, [`${read} has ${size} bytes, more than ${bytesMax}`]);
  return readFile(read, 'utf8');
}

const LOOK_MS = 1_000;

export interface ContractsFileWatch {
  readonly path: string;
  readonly database: Database;
  readonly chains: ChainRegistry;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Stored contracts stay. @throws ContractsFileError after adding the others */
export async function applyContractsFile(
  { path, database, chains }: Pick<ContractsFileWatch, 'path' | 'database' | 'chains'>,
  by: AuditActor = START_ACTOR,
): Promise<number> {
  const wanted = await readContractsFile(path, chains);
  const problems: string[] = [];
  for (const one of wanted)
    try {
      await addContract(database, one, by);
    } catch (error) {
      if (!(error instanceof ContractRefusedError)) throw error;
      problems.push(`${one.name}: ${error.message}`);
    }
  if (problems.length > 0) throw new ContractsFileError(path, problems);
  return wanted.length;
}

/** Again after each change, until the abort. Errors are logged and change nothing. */
export async function watchContractsFile(watch: ContractsFileWatch, signal: AbortSignal): Promise<void> {
  const { path, clock, logger } = watch;
  let applied: string | null = null;
  for (; !signal.aborted; await sleepUnlessAborted(clock, LOOK_MS, signal)) {
    const stamp = await stampOf(path);
    if (stamp === applied) continue;
    try {
      const contracts = await applyContractsFile(watch);
      logger.info({ path, contracts }, 'The contracts of the file were applied');
      applied = stamp;
    } catch (error) {
      logger.error({ path, error: errorText(error) }, 'The contracts of the file could not be applied');
      // An outage passes; a wrong file stays wrong until it changes.
      if (error instanceof ContractsFileError) applied = stamp;
    }
  }
}

async function stampOf(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch (error) {
    return errorText(error);
  }
}
