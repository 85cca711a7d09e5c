import { Command } from 'commander';
import type { CommandContext, JsonOption } from '../session/command-context.ts';

export function configCommand(context: CommandContext): Command {
  const config = new Command('config').description('Check or show the configuration');
  config
    .command('validate')
    .description('Check the configuration and list every problem (exit code 2 if any)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ chainstead config validate\n  $ chainstead --config production.env config validate',
    )
    .action(async (_options: object, command: Command) => {
      const { validateConfiguration } = await import('../actions/config.ts');
      await validateConfiguration(command, context);
    });
  config
    .command('print')
    .description('Show all settings in effect and their source (secrets are redacted)')
    .option('--json', 'JSON output (one object)')
    .addHelpText('after', '\nExamples:\n  $ chainstead config print\n  $ chainstead config print --json')
    .action(async (options: JsonOption, command: Command) => {
      const { showConfiguration } = await import('../actions/config.ts');
      showConfiguration(options, command, context);
    });
  return config;
}
