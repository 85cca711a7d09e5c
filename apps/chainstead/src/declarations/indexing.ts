import { Command } from 'commander';
import { addBlockRangeOptions, addDetachableRangeOptions } from '../ranges/block-range-options.ts';
import type { CommandContext } from '../session/command-context.ts';
import { collect, run } from './run.ts';

export function gapsCommand(context: CommandContext): Command {
  return new Command('gaps')
    .description('List missing block ranges and the proof level of indexed ranges')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', GAPS_EXAMPLES)
    .action(run(context, async () => (await import('../commands/gaps.ts')).showGaps));
}

const GAPS_EXAMPLES = `
Proof levels:
  receipts        the receipts root is proven
  cross           two upstreams agree
  record          the root is proven, but nothing links the blocks to the followed chain yet
  none            not proven yet
  not-applicable  the chain's headers contain no usable roots
  unproven        no upstream could prove the range

Aptos ranges are transaction versions and have no proof level. Instead, confirmed_root is the newest version for which two
fullnodes returned the same ledger root.

Examples:
  $ chainstead gaps
  $ chainstead gaps --json`;

export function chainsCommand(context: CommandContext): Command {
  const chains = new Command('chains').description('List the stored chains, and delete the rows of one');
  chains
    .command('list')
    .description('List the stored chains, and whether each is indexed (read-only)')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', '\nExamples:\n  $ chainstead chains list\n  $ chainstead chains list --json')
    .action(run(context, async () => (await import('../commands/chains.ts')).listChains));
  chains
    .command('remove')
    .description('Delete all rows of a chain that is no longer in CHAINS')
    .argument('<chain>', 'Name or ID of the chain, as "chainstead chains list" shows it')
    .option('--dry-run', 'Show the rows and their size, and exit')
    .option('--yes', 'No confirmation, for scripts')
    .addHelpText('after', CHAINS_EXAMPLES)
    .action(run(context, async () => (await import('../commands/chains.ts')).removeChainOfCommand));
  return chains;
}

const CHAINS_EXAMPLES = `
Remove the chain from CHAINS and restart Chainstead first. After an interruption, run the command again: it continues.
Imported lists, reviews, streams and the usage of API keys stay.

Examples:
  $ chainstead chains remove base --dry-run
  $ chainstead chains remove base
  $ chainstead chains remove 8453 --yes`;

export function contractsCommand(context: CommandContext): Command {
  const contracts = new Command('contracts').description(
    'Index your own contracts: a typed table for each event and function',
  );
  declareAdd(contracts, context);
  contracts
    .command('apply')
    .description('Add the contracts of a YAML file. Known ones stay as they are, and others are kept')
    .argument('<file>', 'File as for CONTRACTS_FILE')
    .addHelpText('after', '\nExamples:\n  $ chainstead contracts apply contracts.yaml')
    .action(run(context, async () => (await import('../commands/contracts.ts')).applyContractsOfCommand));
  contracts
    .command('list')
    .description('List contracts with their tables and columns')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', '\nExamples:\n  $ chainstead contracts list\n  $ chainstead contracts list --json')
    .action(run(context, async () => (await import('../commands/contracts.ts')).listContracts));
  contracts
    .command('status')
    .description('Show rows, indexed blocks and logs that the ABI does not fit')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', '\nExamples:\n  $ chainstead contracts status\n  $ chainstead contracts status --json')
    .action(run(context, async () => (await import('../commands/contracts.ts')).showContractStatus));
  contracts
    .command('resume')
    .description('Index a contract again that was suspended because its tables are too large')
    .argument('<name>', 'Name of the contract')
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .addHelpText('after', '\nExamples:\n  $ chainstead contracts resume vault --chain eth')
    .action(run(context, async () => (await import('../commands/contracts.ts')).resumeContractOfCommand));
  contracts
    .command('remove')
    .description('Remove a contract from a chain, with its tables and rows')
    .argument('<name>', 'Name of the contract')
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .addHelpText('after', '\nExamples:\n  $ chainstead contracts remove vault --chain eth')
    .action(run(context, async () => (await import('../commands/contracts.ts')).removeContractOfCommand));
  return contracts;
}

function declareAdd(contracts: Command, context: CommandContext): void {
  contracts
    .command('add')
    .description(
      'Add a contract, or addresses and events to a known one (running servers apply it within seconds)',
    )
    .argument('<name>', 'Name of the contract: tables are named contracts.<name>_<event>')
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .option(
      '--abi <file>',
      'JSON file with the ABI, or an artifact of Foundry, Hardhat or Truffle (default: read from ABI_SOURCE)',
    )
    .option('--address <list>', 'Comma list of addresses', collect)
    .option(
      '--factory <list>',
      'Comma list of addresses, or a contract whose children are the factories',
      collect,
    )
    .option('--child <parameter>', 'Parameter of the factory event that is the address of a child')
    .option(
      '--child-from <place>',
      'Start of the events of a child: transaction or block of its factory event, or log (default: transaction)',
    )
    .option('--from <block>', "First block (default: the first block of the chain's history)")
    .option(
      '--event <list>',
      'Comma list of event names, or one signature (default: all events); with --factory, its event',
      collectEvents,
    )
    .option('--calls', 'Also index calls of functions that change state (needs TRANSACTIONS_<CHAIN>=all)')
    .option(
      '--upgrade <block:log>',
      'Block and log index since which events have the form of this ABI, if the number of indexed parameters stays',
    )
    .option(
      '--implementation <address>',
      'Implementation of the proxies with this ABI: it counts from the log Upgraded that names it',
    )
    .option('--index <list>', 'Comma list of columns that get an index, and can then be filtered by', collect)
    .option('--strict', 'Refuse a chain that is not in CHAINS, and addresses without code')
    .addHelpText('after', CONTRACTS_EXAMPLES)
    .action(run(context, async () => (await import('../commands/add-contract.ts')).addContractOfCommand));
}

const CONTRACTS_EXAMPLES = `
Examples:
  $ chainstead contracts add vault --chain eth --address 0x83f20f44975d03b1b09e64809b757c47f942beea
  $ chainstead contracts add vault --chain eth --abi ./Vault.json --address 0x83f20f44975d03b1b09e64809b757c47f942beea
  $ chainstead contracts add vault --chain eth --abi ./Vault.json --address 0x83f20f44975d03b1b09e64809b757c47f942beea --from 17000000 --index owner
  $ chainstead contracts add pools --chain eth --abi ./Pool.json --factory 0x1f98431c8ad98523631ae4a59f267346ea31f984 --event 'PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)' --child pool --from 12369621
  $ chainstead contracts add vault --chain eth --abi ./VaultV2.json --address 0x83f20f44975d03b1b09e64809b757c47f942beea --calls --upgrade 18000000:57
  $ chainstead contracts add vault --chain eth --abi ./VaultV2.json --address 0x83f20f44975d03b1b09e64809b757c47f942beea --implementation 0x5c0a86a32c129538d62c106eb8115a8b02358d57`;

/** A signature contains commas. */
function collectEvents(list: string, before: string[] = []): string[] {
  return list.includes('(') ? [...before, list.trim()] : collect(list, before);
}

export function backfillCommand(context: CommandContext): Command {
  return addDetachableRangeOptions(new Command('backfill'))
    .description('Index block ranges and exit, skipping blocks already indexed')
    .option('--yes', 'No estimate and no confirmation above 1,000,000 blocks')
    .option('--bulk', 'Bulk load: build secondary indexes at the end, which is several times faster')
    .addHelpText('after', BACKFILL_EXAMPLES)
    .action(run(context, async () => (await import('../commands/backfill.ts')).runBackfill));
}

const BACKFILL_EXAMPLES = `
Safe to run next to "chainstead start", and safe to interrupt: the next run continues. On Aptos, a range is a range of
transaction versions. ROLES=ingest:2 sets the number of processes that index the ranges together.
With --bulk, filters by token are slow until the indexes are built. After an interruption, run "chainstead indexes".

Examples:
  $ chainstead backfill --chain eth --from 18000000 --to 18100000
  $ chainstead backfill --chain base --range 1-100000 --range 5000000-5100000
  $ chainstead backfill --chain eth --from 0 --to 18000000 --bulk
  $ chainstead backfill --chain aptos --from 0 --to 1000000
  $ chainstead backfill --chain eth --from 0 --to 18000000 --detach`;

export function reindexCommand(context: CommandContext): Command {
  return addDetachableRangeOptions(new Command('reindex'))
    .description('Fetch block ranges again and replace their rows (idempotent)')
    .option('--dataset <name>', 'Dataset to reindex, named as in DATASETS (default: all)')
    .addHelpText('after', REINDEX_EXAMPLES)
    .action(run(context, async () => (await import('../commands/reindex.ts')).runReindex));
}

const REINDEX_EXAMPLES = `
Each range is replaced in one transaction: readers never see a gap.

Examples:
  $ chainstead reindex --chain eth --from 18000000 --to 18000999
  $ chainstead reindex --chain eth --from 18000000 --to 18000999 --dataset erc20-transfers
  $ chainstead reindex --chain eth --from 18000000 --to 18000999 --detach`;

export function verifyCommand(context: CommandContext): Command {
  return addDetachableRangeOptions(new Command('verify'))
    .description('Verify ranges against full receipts and repair mismatches')
    .addHelpText('after', VERIFY_EXAMPLES)
    .action(run(context, async () => (await import('../commands/verify.ts')).runVerification));
}

const VERIFY_EXAMPLES = `
For each mismatch, the upstream that returned the wrong data is reported.
The background prover does the same work, at most VERIFY_BLOCKS_PER_SECOND. Exit code 1 if a block stays unproven or is not indexed.

Examples:
  $ chainstead verify --chain eth --from 18000000 --to 18000999
  $ chainstead verify --chain eth --from 18000000 --to 18999999 --detach`;

export function jobsCommand(context: CommandContext): Command {
  const jobs = new Command('jobs').description(
    'List or cancel range jobs queued with --detach or in the console, or retry quarantined work',
  );
  jobs
    .command('list')
    .description('List the latest jobs with progress, rate and result')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', '\nExamples:\n  $ chainstead jobs list\n  $ chainstead jobs list --json')
    .action(run(context, async () => (await import('../commands/jobs.ts')).listJobs));
  jobs
    .command('cancel')
    .description('Cancel a job (rows already written stay)')
    .argument('<job>', 'Job ID, as shown by `jobs list`')
    .addHelpText('after', '\nExamples:\n  $ chainstead jobs cancel 17637384001234561f0c2ab9')
    .action(run(context, async () => (await import('../commands/jobs.ts')).cancelJob));
  jobs
    .command('retry')
    .description('Try quarantined work again: its crashes are forgotten')
    .argument('<work>', 'Name of the work, as shown by `status`')
    .addHelpText('after', "\nExamples:\n  $ chainstead jobs retry 'block eth 123 streams'")
    .action(run(context, async () => (await import('../commands/jobs.ts')).retryWork));
  return jobs;
}

export function indexesCommand(context: CommandContext): Command {
  return new Command('indexes')
    .description('Build indexes missing after an interrupted `backfill --bulk` (online)')
    .addHelpText('after', '\nExamples:\n  $ chainstead indexes')
    .action(run(context, async () => (await import('../commands/indexes.ts')).buildMissingIndexes));
}

export function distributeCommand(context: CommandContext): Command {
  return new Command('distribute')
    .description('Distribute the tables over a Citus cluster (idempotent)')
    .option('--dry-run', 'Show the planned changes and exit')
    .addHelpText('after', DISTRIBUTE_EXAMPLES)
    .action(run(context, async () => (await import('../commands/distribute.ts')).distribute));
}

const DISTRIBUTE_EXAMPLES = `
Stop Chainstead on every machine first. After an interruption, run the command again.

Examples:
  $ chainstead distribute --dry-run
  $ chainstead distribute`;

export function recordCommand(context: CommandContext): Command {
  return addBlockRangeOptions(new Command('record'))
    .description('Save blocks and receipts as files for tests and bug reports')
    .requiredOption('--out <folder>', 'Output folder, for <chain>/<block>/block.json and receipts.json')
    .addHelpText('after', RECORD_EXAMPLES)
    .action(run(context, async () => (await import('../commands/record.ts')).recordRanges));
}

const RECORD_EXAMPLES = `
No database is needed. The recorded-chain node in the testkit serves the folder over JSON-RPC.

Examples:
  $ chainstead record --chain eth --from 18000000 --to 18000004 --out ./recorded`;
