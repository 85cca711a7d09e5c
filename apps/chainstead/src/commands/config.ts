import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead config validate|print` */
export function configCommand(context: CommandContext): Command {
  return new Command('config')
    .description('check or show the configuration')
    .addCommand(validateCommand(context))
    .addCommand(printCommand(context));
}

function validateCommand(context: CommandContext): Command {
  return new Command('validate')
    .description('say everything that is wrong with the configuration, at once (exit code 2), or what it amounts to')
    .addHelpText(
      'after',
      '\nExamples:\n  $ chainstead config validate\n  $ chainstead --config production.env config validate',
    )
    .action(async (_options: object, command: Command) => {
      const { validateConfiguration } = await import('../actions/config.ts');
      validateConfiguration(command, context);
    });
}

function printCommand(context: CommandContext): Command {
  return new Command('print')
    .description('show every key in force and where it comes from; secrets are redacted')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExamples:\n  $ chainstead config print\n  $ chainstead config print --json')
    .action(async (options: { json?: boolean }, command: Command) => {
      const { showConfiguration } = await import('../actions/config.ts');
      showConfiguration(options, command, context);
    });
}
