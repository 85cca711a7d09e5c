import { Command } from 'commander';
import type { CommandContext } from '../session/command-context.ts';

export function indexesCommand(context: CommandContext): Command {
  return new Command('indexes')
    .description('Build indexes missing after an interrupted `backfill --bulk` (online)')
    .addHelpText('after', '\nExamples:\n  $ chainstead indexes')
    .action(async (_options: object, command: Command) => {
      const { buildMissingIndexes } = await import('../actions/indexes.ts');
      await buildMissingIndexes(command, context);
    });
}
