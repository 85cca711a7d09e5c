import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead status` */
export function statusCommand(context: CommandContext): Command {
  return new Command('status')
    .description(
      'show for each chain: head, indexed blocks, lag, what holds it up, upstream health, histories, metadata and traits on demand; on a cluster of Citus its shards; and rows by table',
    )
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExamples:\n  $ chainstead status\n  $ chainstead status --json')
    .action(async (options: { json?: boolean }, command: Command) => {
      const { showStatus } = await import('../actions/status.ts');
      await showStatus(options, command, context);
    });
}
