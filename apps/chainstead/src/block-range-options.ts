import { type Command, Option } from 'commander';

/** As commander gives them. */
export interface BlockRangeOptions {
  readonly chain: string;
  readonly from?: string;
  readonly to?: string;
  readonly range?: readonly string[];
}

/** Adds `--chain`, `--from`, `--to` and the repeatable `--range` to a command. */
export function addBlockRangeOptions(command: Command): Command {
  return command
    .requiredOption('--chain <name>', 'the chain: name, hexadecimal or decimal id')
    .option('--from <block>', 'first block')
    .option('--to <block>', 'last block, included')
    .addOption(new Option('--range <from-to...>', 'a range, instead of --from and --to; as many as you like'));
}
