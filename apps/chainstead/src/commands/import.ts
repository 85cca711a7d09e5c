import { importList, type ListKind } from '@chainstead/datasets';
import { Argument, Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { withStorage } from '../command-session.ts';
import { writeOutcome } from '../range-command.ts';
import { readConfiguration } from '../read-configuration.ts';
import { readFileOrUrl } from '../read-file-or-url.ts';
import { UsageError } from '../usage-error.ts';

const KINDS: readonly ListKind[] = ['token-list', 'labels', 'spam', 'collections'];
/** Labels and scam entries of this chain id hold on every chain. */
const EVERY_CHAIN = 0;

interface ImportOptions {
  readonly source?: string;
  readonly chain?: string;
}

/** `chainstead import` */
export function importCommand(context: CommandContext): Command {
  return new Command('import')
    .description(
      'import a list: token facts with logos, address labels, scams, or NFT collections; replaces what came from the same source',
    )
    .addArgument(new Argument('<kind>', 'what the list says').choices([...KINDS]))
    .argument('<file-or-url>', 'where it is: a file, or an http(s) URL')
    .option('--source <name>', 'name to keep it under (default: the file or URL as given)')
    .option('--chain <name>', 'chain of entries that name none: a name, an id, or "all"')
    .addHelpText('after', EXAMPLES)
    .action((kind: ListKind, place: string, options: ImportOptions, command: Command) => {
      const { configuration } = readConfiguration(command, context);
      const chains = configuration.chainRegistry;
      const chainId =
        options.chain === undefined ? undefined : readChainId(options.chain, (name) => chains.find(name)?.id);
      const source = options.source ?? place;
      return withStorage({ configuration, context, name: 'import' }, async ({ database }) => {
        const content = await readFileOrUrl(place, context.stopSignal);
        const report = await importList({
          database,
          chains,
          kind,
          source,
          content,
          ...(chainId === undefined ? {} : { chainId }),
        });
        for (const { reason, count } of report.skipped) context.stderr.write(`left out ${count}: ${reason}\n`);
        writeOutcome(context, `Imported ${report.rows} entries (${report.format}) from ${source}.`, {
          work: 'import',
          kind,
          source,
          ...report,
          finished: true,
        });
      });
    });
}

function readChainId(name: string, find: (name: string) => number | undefined): number {
  if (name === 'all') return EVERY_CHAIN;
  const id = find(name);
  if (id === undefined) throw new UsageError(`--chain ${name} is not a known chain`, 'Give its name, its id, or "all"');
  return id;
}

const EXAMPLES = `
Importing the same source again replaces exactly its own entries. Formats: docs/spam.md,
docs/collections.md.

Examples:
  $ chainstead import token-list https://tokens.uniswap.org
  $ chainstead import labels ./labels.json --source etherscan --chain eth
  $ chainstead import spam ./scams.json --chain all
  $ chainstead import collections ./collections.json --chain eth`;
