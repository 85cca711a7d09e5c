/** Apart from the other commands of contracts: only this one loads what reads ABIs and nodes. */
import { readFile, stat } from 'node:fs/promises';
import type { Chain } from '@chainstead/chains';
import { addContract, childFrom, parseLogPlace, type WantedContract } from '@chainstead/contracts/datasets';
import { type Address, createMetricsRegistry, errorText, orAborted } from '@chainstead/core';
import type { ChainConfiguration, Configuration } from '../configuration/index.ts';
import { UsageError } from '../errors/usage-error.ts';
import { readSourceAbi } from '../lists/abi-source.ts';
import type { CommandContext, Invocation } from '../session/command-context.ts';
import { commandActor, commandLogger } from '../session/command-session.ts';
import { readAddress, readBlockNumber, readChain } from '../session/option-values.ts';
import { openPool } from '../session/upstream-pools.ts';
import { renderTable } from '../text/text-table.ts';
import { withContracts } from './contracts.ts';

interface AddContractOptions {
  readonly chain: string;
  readonly abi?: string;
  readonly address?: readonly string[];
  readonly factory?: readonly string[];
  readonly child?: string;
  readonly childFrom?: string;
  readonly from?: string;
  readonly event?: readonly string[];
  readonly index?: readonly string[];
  readonly calls?: boolean;
  readonly upgrade?: string;
  readonly implementation?: string;
  readonly strict?: boolean;
}

const ABI_BYTES_MAX = 10 * 1024 * 1024;

export async function addContractOfCommand(
  invocation: Invocation<AddContractOptions>,
  name: string,
): Promise<void> {
  const { options, context } = invocation;
  const emitters = readEmitters(options);
  const file = options.abi === undefined ? null : await readAbiFile(options.abi);
  await withContracts(invocation, async ({ database }, configuration) => {
    const chain = readChain(configuration, options.chain);
    const wanted: WantedContract = {
      name,
      abi: file ?? (await sourceAbi(configuration, { chain, ...emitters }, invocation)),
      chain,
      ...emitters,
      firstBlock: readBlockNumber(options.from, '--from'),
      indexed: options.index ?? [],
      calls: options.calls ?? false,
      upgrade: readLogPlace(options.upgrade),
      implementation:
        options.implementation === undefined ? null : readAddress(options.implementation, '--implementation'),
    };
    const warnings = await contractWarnings(configuration, wanted, context);
    if (options.strict === true && warnings.length > 0)
      throw new UsageError(warnings.join('. '), 'Correct it, or leave --strict out');
    const { tables, skipped } = await addContract(database, wanted, commandActor());
    for (const warning of warnings) context.stderr.write(`Warning: ${warning}.\n`);
    const rows = tables.map(({ name: table, abi: { signature, inputs } }) => [
      table,
      signature,
      String(inputs.length),
    ]);
    context.stdout.write(renderTable(['table', 'signature', 'parameters'], rows));
    for (const [reason, count] of skipped) context.stderr.write(`Skipped in the ABI: ${count} × ${reason}\n`);
    context.stdout.write(
      'Running servers index it within seconds. "chainstead contracts status" shows the progress.\n',
    );
  });
}

/** @throws UsageError if the options don't fit together */
function readEmitters({
  address,
  factory,
  child,
  childFrom: since,
  event,
}: AddContractOptions): Pick<WantedContract, 'addresses' | 'factory' | 'events'> {
  if (factory === undefined) {
    if (address === undefined)
      throw new UsageError('--address is missing', 'Give --address, or --factory for children');
    if (child !== undefined)
      throw new UsageError('--child needs --factory', 'Add --factory, or leave --child out');
    if (since !== undefined)
      throw new UsageError('--child-from needs --factory', 'Add --factory, or leave --child-from out');
    const addresses = address.map((text) => readAddress(text, '--address'));
    return { addresses, factory: null, events: event ?? null };
  }
  if (address !== undefined)
    throw new UsageError('--address and --factory exclude each other', 'Leave one of them out');
  const [declared] = event ?? [];
  if (declared === undefined || event?.length !== 1 || child === undefined)
    throw new UsageError(
      '--factory needs --event and --child',
      'Give one --event with the declaration of the event that names a child, and --child with its parameter',
    );
  const [of = ''] = factory;
  const isName = factory.length === 1 && !of.startsWith('0x');
  return {
    addresses: isName ? [] : factory.map((text) => readAddress(text, '--factory')),
    factory: { of: isName ? of : null, event: declared, child, childFrom: readChildFrom(since) },
    events: null,
  };
}

function readChildFrom(text: string | undefined): NonNullable<WantedContract['factory']>['childFrom'] {
  const read = childFrom.optional().safeParse(text);
  if (read.success) return read.data;
  throw new UsageError(`--child-from ${text} is unknown`, `Use ${childFrom.options.join(', ')}`);
}

/** A proxy has the ABI of its implementation. */
async function sourceAbi(
  { abiSource }: Configuration,
  { chain, addresses, factory }: Pick<WantedContract, 'chain' | 'addresses' | 'factory'>,
  { options, context }: Invocation<AddContractOptions>,
): Promise<unknown> {
  if (abiSource === null)
    throw new UsageError('--abi is missing', 'Give the path of a JSON file, or set ABI_SOURCE');
  const { implementation } = options;
  const [first] = factory === null ? addresses : [];
  const address = implementation === undefined ? first : readAddress(implementation, '--implementation');
  if (address === undefined)
    throw new UsageError(
      '--abi is missing, and children of a factory are not known yet',
      'Give the path of a JSON file',
    );
  return readSourceAbi(abiSource, { address, chainId: chain.id }, context.stopSignal);
}

async function readAbiFile(path: string): Promise<unknown> {
  const refuse = (error: unknown): never => {
    throw new UsageError(`--abi ${path} can't be read: ${errorText(error)}`, 'Give the path of a JSON file');
  };
  const { size } = await stat(path).catch(refuse);
  if (size > ABI_BYTES_MAX)
    throw new UsageError(`--abi ${path} has ${size} bytes`, `Give a file of at most ${ABI_BYTES_MAX} bytes`);
  const text = await readFile(path, 'utf8').catch(refuse);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--abi ${path} is not JSON: ${errorText(error)}`, 'Give the ABI as a JSON file');
  }
}

function readLogPlace(text: string | undefined): ReturnType<typeof parseLogPlace> {
  if (text === undefined) return null;
  const place = parseLogPlace(text);
  if (place !== null) return place;
  throw new UsageError(
    `--upgrade ${text} is not the place of a log`,
    'Use <block>:<log index>, such as 18000000:57',
  );
}

const NODES_MS = 5_000;
const CODES_MAX = 100;

/** Reasons why a contract may never have rows: chain not configured, no code. Never throws. */
async function contractWarnings(
  configuration: Configuration,
  { chain, addresses }: { readonly chain: Chain; readonly addresses: readonly Address[] },
  context: CommandContext,
): Promise<readonly string[]> {
  const configured = configuration.chains.find((one) => one.chain.id === chain.id);
  if (configured === undefined)
    return [`${chain.key} is not in CHAINS. The contract is indexed by servers that have it in CHAINS`];
  if (addresses.length === 0) return [];
  try {
    const codes = await readCodes(configured, configuration, addresses.slice(0, CODES_MAX), context);
    return addresses
      .filter((_, index) => codes[index] === '0x')
      .map((address) => `${address} has no code on ${chain.key}. Check the address and the chain`);
  } catch (error) {
    return [`The nodes of ${chain.key} returned no code of the addresses: ${errorText(error)}`];
  }
}

async function readCodes(
  configured: ChainConfiguration,
  configuration: Configuration,
  addresses: readonly Address[],
  context: CommandContext,
): Promise<readonly unknown[]> {
  const logger = commandLogger(configuration, context);
  const pool = openPool(configured, { logger, metrics: createMetricsRegistry(), clock: context.clock });
  const signal = AbortSignal.timeout(NODES_MS);
  try {
    await orAborted(pool.start(), signal);
    const codes = await pool.requestMany(
      'eth_getCode',
      addresses.map((address) => [address, 'latest']),
      { signal },
    );
    return codes.map(({ value }) => value);
  } finally {
    await pool.close();
  }
}
