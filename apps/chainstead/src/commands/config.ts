import { chainKeyOf } from '@chainstead/aptos';
import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { printConfiguration } from '../configuration/index.ts';
import { configurationSources, readConfiguration } from '../read-configuration.ts';

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
    .action((_options: object, command: Command) => {
      const { configuration } = readConfiguration(command, context);
      const evm = configuration.chains.map(({ chain }) => `${chain.key} (${chain.id})`);
      const aptos = configuration.aptos.networks.map(({ network }) => chainKeyOf(network));
      const chains = [...evm, ...aptos].join(', ');
      context.stdout.write(`The configuration is valid. Chains: ${chains || 'none'}.\n`);
    });
}

function printCommand(context: CommandContext): Command {
  return new Command('print')
    .description('show every key in force and where it comes from; secrets are redacted')
    .option('--json', 'one JSON object')
    .addHelpText('after', '\nExamples:\n  $ chainstead config print\n  $ chainstead config print --json')
    .action((options: { json?: boolean }, command: Command) => {
      const sources = configurationSources(command, context);
      const { configuration } = readConfiguration(command, context);
      const printed = printConfiguration(
        sources,
        configuration.chains.map(({ chain }) => chain.key),
      );
      if (options.json === true) {
        const values = Object.fromEntries(printed.map(({ key, value, origin }) => [key, { value, origin }]));
        context.stdout.write(`${JSON.stringify(values, null, 2)}\n`);
        return;
      }
      for (const { key, value, origin } of printed)
        context.stdout.write(value === null ? `# ${key} is not set\n` : `${key}=${value}  # ${origin}\n`);
    });
}
