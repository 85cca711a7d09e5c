import { type Command, Option } from 'commander';

export interface BlockRangeOptions {
  readonly chain: string;
  readonly from?: string;
  readonly to?: string;
  readonly range?: readonly string[];
  readonly detach?: boolean;
}

export function addBlockRangeOptions(command: Command): Command {
  return command
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .option('--from <block>', 'First block')
    .option('--to <block>', 'Last block (inclusive)')
    .addOption(new Option('--range <from-to...>', 'Block range, instead of --from and --to (repeatable)'));
}

export function addDetachableRangeOptions(command: Command): Command {
  return addBlockRangeOptions(command).option(
    '--detach',
    'Queue the job for the running ingest role instead of waiting (progress: "chainstead jobs list")',
  );
}
