import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead doctor` */
export function doctorCommand(context: CommandContext): Command {
  return new Command('doctor')
    .description(
      'look whether the nodes, Postgres and Redis are good for what is configured: each finding in words, with what it means and what to do; changes nothing',
    )
    .option('--chain <name>', 'the nodes of this chain alone')
    .option(
      '--url <url>',
      'this node instead of those that are configured, for the chain that is given or that it says it is of',
    )
    .option('--json', 'one JSON object')
    .addHelpText('after', EXAMPLES)
    .action(async (options: { chain?: string; url?: string; json?: boolean }, command: Command) => {
      const { examine } = await import('../actions/doctor.ts');
      await examine(options, command, context);
    });
}

const EXAMPLES = `
A node takes up to a minute and a few hundred calls, at the rate that is configured for it (RPC_RATE); they count towards its budget.
Ends with 1 where something has to be changed, with 0 where not. Without --chain and --url it looks at everything.

Examples:
  $ chainstead doctor
  $ chainstead doctor --chain base
  $ chainstead doctor --chain eth --url https://node.example.com/v2/key
  $ chainstead doctor --json`;
