import { Command } from 'commander';
import type { AddContractOptions } from '../actions/contracts.ts';
import type { CommandContext, JsonOption } from '../session/command-context.ts';

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
    .action(async (file: string, _options: object, command: Command) => {
      const { applyContractsOfCommand } = await import('../actions/contracts.ts');
      await applyContractsOfCommand(file, command, context);
    });
  contracts
    .command('list')
    .description('List contracts with their tables and columns')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', '\nExamples:\n  $ chainstead contracts list\n  $ chainstead contracts list --json')
    .action(async (options: JsonOption, command: Command) => {
      const { listContracts } = await import('../actions/contracts.ts');
      await listContracts(options, command, context);
    });
  contracts
    .command('status')
    .description('Show rows, indexed blocks and logs that the ABI does not fit')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', '\nExamples:\n  $ chainstead contracts status\n  $ chainstead contracts status --json')
    .action(async (options: JsonOption, command: Command) => {
      const { showContractStatus } = await import('../actions/contracts.ts');
      await showContractStatus(options, command, context);
    });
  contracts
    .command('resume')
    .description('Index a contract again that was suspended because its tables are too large')
    .argument('<name>', 'Name of the contract')
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .addHelpText('after', '\nExamples:\n  $ chainstead contracts resume vault --chain eth')
    .action(async (name: string, options: { chain: string }, command: Command) => {
      const { resumeContractOfCommand } = await import('../actions/contracts.ts');
      await resumeContractOfCommand(name, options, command, context);
    });
  contracts
    .command('remove')
    .description('Remove a contract from a chain, with its tables and rows')
    .argument('<name>', 'Name of the contract')
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .addHelpText('after', '\nExamples:\n  $ chainstead contracts remove vault --chain eth')
    .action(async (name: string, options: { chain: string }, command: Command) => {
      const { removeContractOfCommand } = await import('../actions/contracts.ts');
      await removeContractOfCommand(name, options, command, context);
    });
  return contracts;
}

function declareAdd(contracts: Command, context: CommandContext): void {
  contracts
    .command('add')
    .description('Add a contract, or addresses and events to a known one (running servers apply it within seconds)')
    .argument('<name>', 'Name of the contract: tables are named contracts.<name>_<event>')
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .requiredOption('--abi <file>', 'JSON file with the ABI, or an artifact of Foundry, Hardhat or Truffle')
    .option('--address <list>', 'Comma list of addresses', collect)
    .option('--factory <list>', 'Comma list of addresses, or a contract whose children are the factories', collect)
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
    .addHelpText('after', EXAMPLES)
    .action(async (name: string, options: AddContractOptions, command: Command) => {
      const { addContractOfCommand } = await import('../actions/contracts.ts');
      await addContractOfCommand(name, options, command, context);
    });
}

const EXAMPLES = `
Examples:
  $ chainstead contracts add vault --chain eth --abi ./Vault.json --address 0x83f20f44975d03b1b09e64809b757c47f942beea
  $ chainstead contracts add vault --chain eth --abi ./Vault.json --address 0x83f20f44975d03b1b09e64809b757c47f942beea --from 17000000 --index owner
  $ chainstead contracts add pools --chain eth --abi ./Pool.json --factory 0x1f98431c8ad98523631ae4a59f267346ea31f984 --event 'PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)' --child pool --from 12369621
  $ chainstead contracts add vault --chain eth --abi ./VaultV2.json --address 0x83f20f44975d03b1b09e64809b757c47f942beea --calls --upgrade 18000000:57
  $ chainstead contracts add vault --chain eth --abi ./VaultV2.json --address 0x83f20f44975d03b1b09e64809b757c47f942beea --implementation 0x5c0a86a32c129538d62c106eb8115a8b02358d57`;

function collect(list: string, before: string[] = []): string[] {
  return [...before, ...list.split(',').map((one) => one.trim())];
}

/** A signature contains commas. */
function collectEvents(list: string, before: string[] = []): string[] {
  return list.includes('(') ? [...before, list.trim()] : collect(list, before);
}
