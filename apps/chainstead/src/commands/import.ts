import { Argument, Command } from 'commander';
import type { ImportKind, ImportOptions } from '../actions/import.ts';
import type { CommandContext } from '../command-context.ts';

const KINDS: readonly ImportKind[] = ['token-list', 'labels', 'spam', 'collections', 'aptos-coins'];

/** `chainstead import` */
export function importCommand(context: CommandContext): Command {
  return new Command('import')
    .description(
      'import a list: token metadata with logos, address labels, scams, or NFT collections (replaces what came from the same source); or coins of Aptos that "export" wrote',
    )
    .addArgument(new Argument('<kind>', 'what the list says').choices(KINDS))
    .argument('<file-or-url>', 'where it is: a file, or an http(s) URL')
    .option('--source <name>', 'name to keep it under (default: the file or URL as given)')
    .option('--chain <name>', 'chain of entries that name none: a name, an id, or "all"')
    .option(
      '--trust-coverage',
      'of aptos-coins: count the versions that the file claims as covered; they are not read again',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (kind: ImportKind, place: string, options: ImportOptions, command: Command) => {
      const { runImport } = await import('../actions/import.ts');
      await runImport({ kind, place }, options, command, context);
    });
}

const EXAMPLES = `
Importing the same source again replaces exactly its own entries. Formats: docs/spam.md,
docs/collections.md.

Examples:
  $ chainstead import token-list https://tokens.uniswap.org
  $ chainstead import labels ./labels.json --source etherscan --chain eth
  $ chainstead import spam ./scams.json --chain all
  $ chainstead import collections ./collections.json --chain eth
  $ chainstead import aptos-coins ./coins.jsonl`;
