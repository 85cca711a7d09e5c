import { readMetadataStatuses } from '@chainstead/datasets';
import { countRows, readChainStatuses, readHistories } from '@chainstead/sync';
import { Command } from 'commander';
import { renderStatus, toStatusJson } from '../chain-status-text.ts';
import type { CommandContext } from '../command-context.ts';
import { withStorage } from '../command-session.ts';
import { readConfiguration } from '../read-configuration.ts';

/** Unfinished histories that are listed; all are counted. */
const HISTORIES_MAX = 20;
/** Collections whose metadata can't be read that are listed by chain; all are counted. */
const FAILING_COLLECTIONS_MAX = 10;

/** `chainstead status` */
export function statusCommand(context: CommandContext): Command {
  return new Command('status')
    .description(
      'show for each chain: head, indexed blocks, lag, what holds it up, upstream health, histories and metadata on demand; and rows by table',
    )
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExamples:\n  $ chainstead status\n  $ chainstead status --json')
    .action((options: { json?: boolean }, command: Command) => {
      const { configuration } = readConfiguration(command, context);
      const configured = configuration.chains.map(({ chain }) => chain);
      return withStorage({ configuration, context, name: 'status' }, async ({ database }) => {
        const status = {
          chains: await readChainStatuses(database, configuration.datasets, configured),
          configured,
          rows: await countRows(database, ['blocks', 'tokens', ...configuration.datasets.map(({ table }) => table)]),
          histories: await readHistories(database, HISTORIES_MAX),
          metadata: await readMetadataStatuses(database, FAILING_COLLECTIONS_MAX),
          registry: configuration.chainRegistry,
          now: context.clock.now(),
        };
        context.stdout.write(
          options.json === true ? `${JSON.stringify(toStatusJson(status))}\n` : renderStatus(status),
        );
      });
    });
}
