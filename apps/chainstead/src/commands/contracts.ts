import {
  type ContractDefinition,
  type ContractStatus,
  readContractStatuses,
  readDefinitions,
  removeContract,
  resumeContract,
} from '@chainstead/contracts/datasets';
import type { Configuration } from '../configuration/index.ts';
import { withStoredChains } from '../session/chain-session.ts';
import type { Invocation, JsonOption } from '../session/command-context.ts';
import { commandActor } from '../session/command-session.ts';
import { readChain } from '../session/option-values.ts';
import type { Storage } from '../session/storage.ts';
import { withFoundDatabase, writeShown } from '../session/with-database.ts';
import { renderTable } from '../text/text-table.ts';

export async function listContracts(invocation: Invocation<JsonOption>): Promise<void> {
  await withContracts(invocation, async ({ database }, configuration) => {
    const definitions = await readDefinitions(database);
    const rows = definitions.flatMap((one) =>
      one.tables.map((table) => [
        ...[one.name, nameOf(one, configuration), String(one.addresses.length), table.name],
        table.parameters.map(({ name, type }) => `${name} ${type}`).join(', '),
      ]),
    );
    const json = definitions.map((one) => definitionJson(one, configuration));
    writeShown(invocation, json, renderContracts(['contract', 'chain', 'addresses', 'table', 'columns'], rows));
  });
}

function renderContracts(header: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length > 0) return renderTable(header, rows);
  return 'No contract has been added yet. Run "chainstead contracts add --help".\n';
}

export async function showContractStatus(invocation: Invocation<JsonOption>): Promise<void> {
  await withContracts(invocation, async ({ database }, configuration) => {
    const statuses = await readContractStatuses(database);
    const rows = statuses.map((one) => [
      one.table,
      nameOf(one, configuration),
      `${one.isExact ? '' : '~'}${one.rows}`,
      one.blocks.map(({ from, to }) => `${from}-${to}`).join(' ') || 'none yet',
      String(one.undecoded),
      stateOf(one),
    ]);
    const header = ['table', 'chain', 'rows', 'indexed blocks', 'undecoded', 'state'];
    const json = statuses.map((one) => statusJson(one, configuration));
    writeShown(invocation, json, renderContracts(header, rows));
  });
}

function stateOf({ isMissing, suspendedReason }: ContractStatus): string {
  if (isMissing) return 'table is missing: add the contract again';
  return suspendedReason === null ? '' : `suspended: ${suspendedReason}`;
}

export async function removeContractOfCommand(
  invocation: Invocation<{ readonly chain: string }>,
  name: string,
): Promise<void> {
  const { options, context } = invocation;
  await withContracts(invocation, async ({ database }, configuration) => {
    const { dropped, held } = await removeContract(
      database,
      name,
      readChain(configuration, options.chain).id,
      commandActor(),
    );
    context.stdout.write(`Removed ${name}. Dropped tables: ${dropped.join(', ') || 'none'}\n`);
    if (held.length > 0)
      context.stderr.write(
        `Tables that other sessions still read: ${held.join(', ')}. The ingest role drops them when these sessions' transactions end\n`,
      );
  });
}

export async function applyContractsOfCommand(invocation: Invocation, path: string): Promise<void> {
  const { context } = invocation;
  const { applyContractsFile } = await import('../contracts-file/contracts-file.ts');
  await withContracts(invocation, async ({ database }, { chainRegistry: chains }) => {
    const contracts = await applyContractsFile({ path, database, chains }, commandActor());
    context.stdout.write(`Applied ${contracts} contracts of ${path}. Contracts that it lacks are kept\n`);
  });
}

export async function resumeContractOfCommand(
  invocation: Invocation<{ readonly chain: string }>,
  name: string,
): Promise<void> {
  const { options, context } = invocation;
  await withContracts(invocation, async ({ database }, configuration) => {
    await resumeContract(database, name, readChain(configuration, options.chain).id);
    context.stdout.write(`Resumed ${name}. Missing blocks are filled in\n`);
  });
}

export function withContracts(
  invocation: Invocation,
  work: (storage: Storage, configuration: Configuration) => Promise<void>,
): Promise<void> {
  return withFoundDatabase(invocation, 'contracts', async (storage, configuration) =>
    work(storage, await withStoredChains(storage.database, configuration)),
  );
}

function nameOf({ chainId }: Pick<ContractDefinition, 'chainId'>, { chainRegistry }: Configuration): string {
  return chainRegistry.find(chainId)?.key ?? String(chainId);
}

function definitionJson(definition: ContractDefinition, configuration: Configuration): object {
  const { name, chainId, addresses, firstBlock, tables, factory, suspendedReason } = definition;
  return {
    name,
    chain: nameOf(definition, configuration),
    chain_id: chainId,
    addresses,
    first_block: firstBlock,
    factory:
      factory === null
        ? null
        : { event: factory.event, child: factory.child, child_from: factory.childFrom, contract: factory.of },
    suspended_reason: suspendedReason,
    events: tables.map(({ event, kind, abi, ...table }) => ({
      event,
      kind,
      signature: abi.signature,
      table: table.name,
      view: table.view,
      columns: table.parameters.map((column) => ({
        name: column.name,
        type: column.type,
        abi_type: column.abiType.type,
      })),
    })),
  };
}

function statusJson(
  { table, isExact, rows, blocks, undecoded, chainId, isMissing, suspendedReason }: ContractStatus,
  configuration: Configuration,
): object {
  return {
    table,
    chain: nameOf({ chainId }, configuration),
    rows,
    is_exact: isExact,
    indexed_blocks: blocks,
    undecoded,
    is_missing: isMissing,
    suspended_reason: suspendedReason,
  };
}
