import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead reviews list|apply` */
export function reviewsCommand(context: CommandContext): Command {
  return new Command('reviews')
    .description(
      'what clients report of contracts (POST /api/v2.2/contracts-review), which takes effect when you apply it',
    )
    .addCommand(listCommand(context))
    .addCommand(applyCommand(context));
}

function listCommand(context: CommandContext): Command {
  return new Command('list')
    .description('contracts that were reported as spam or as none, those that wait first')
    .option('--chain <name>', 'of this chain only: its name or id')
    .option('--json', 'one JSON array')
    .addHelpText('after', '\nExamples:\n  $ chainstead reviews list\n  $ chainstead reviews list --chain eth --json')
    .action(async (options: { chain?: string; json?: boolean }, command: Command) => {
      const { listReviews } = await import('../actions/reviews.ts');
      await listReviews(options, command, context);
    });
}

function applyCommand(context: CommandContext): Command {
  return new Command('apply')
    .description(
      'mark as spam what more keys call spam than not, and take back what reviews had marked of the others; what imported lists say stays',
    )
    .argument('[contracts...]', 'their addresses (default: all that were reported)')
    .option('--chain <name>', 'of this chain only: its name or id')
    .addHelpText('after', EXAMPLES)
    .action(async (contracts: string[], options: { chain?: string }, command: Command) => {
      const { applyReported } = await import('../actions/reviews.ts');
      await applyReported(contracts, options, command, context);
    });
}

const EXAMPLES = `
Any key may report: look at the list before you apply it.

Examples:
  $ chainstead reviews apply
  $ chainstead reviews apply 0x7a250d5630b4cf539739df2c5dacb4c659f2488d --chain eth`;
