import { type Command, Option } from 'commander';

/** As commander gives them. */
export interface BlockRangeOptions {
  readonly chain: string;
  readonly from?: string;
  readonly to?: string;
  readonly range?: readonly string[];
  /** Leaves the work to a process of the role `ingest`. */
  readonly detach?: boolean;
}

/** Adds `--chain`, `--from`, `--to` and the repeatable `--range` to a command. */
export function addBlockRangeOptions(command: Command): Command {
  return command
    .requiredOption('--chain <name>', 'the chain: name, hexadecimal or decimal id')
    .option('--from <block>', 'first block')
    .option('--to <block>', 'last block, included')
    .addOption(new Option('--range <from-to...>', 'a range, instead of --from and --to; as many as you like'));
}

/** The same with `--detach`, for work that the role `ingest` does as well. */
export function addDetachableRangeOptions(command: Command): Command {
  return addBlockRangeOptions(command).option(
    '--detach',
    'leave it to the running role ingest; "chainstead jobs list" shows how far it is',
  );
}
