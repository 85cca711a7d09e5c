import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead indexes` */
export function indexesCommand(context: CommandContext): Command {
  return new Command('indexes')
    .description('build the secondary indexes that an interrupted `backfill --bulk` left out, while everything goes on')
    .addHelpText('after', '\nExamples:\n  $ chainstead indexes')
    .action(async (_options: object, command: Command) => {
      const { buildMissingIndexes } = await import('../actions/indexes.ts');
      await buildMissingIndexes(command, context);
    });
}
