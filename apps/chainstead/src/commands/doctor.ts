import { Command } from 'commander';
import type { CommandContext } from '../session/command-context.ts';

export function doctorCommand(context: CommandContext): Command {
  return new Command('doctor')
    .description('Check nodes, Postgres and Redis against the configuration (read-only)')
    .option('--chain <name>', 'Check only the nodes of this chain')
    .option('--url <url>', 'Check only this node, for --chain or for the chain ID that it reports')
    .option('--json', 'JSON output (one object)')
    .addHelpText('after', EXAMPLES)
    .action(async (options: { chain?: string; url?: string; json?: boolean }, command: Command) => {
      const { examine } = await import('../actions/doctor.ts');
      await examine(options, command, context);
    });
}

const EXAMPLES = `
Each finding includes its meaning and a fix. Without --chain and --url, everything is checked.
Checking a node takes up to a minute and a few hundred calls. They respect RPC_RATE and count toward the node's budget.
Exit code 1 if something must be changed, otherwise 0.

Examples:
  $ chainstead doctor
  $ chainstead doctor --chain base
  $ chainstead doctor --chain eth --url https://node.example.com/v2/key
  $ chainstead doctor --json`;
