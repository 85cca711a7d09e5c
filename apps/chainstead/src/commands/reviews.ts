import { Command } from 'commander';
import type { CommandContext } from '../session/command-context.ts';

export function reviewsCommand(context: CommandContext): Command {
  const reviews = new Command('reviews').description(
    'List or apply spam reports from clients (POST /contracts-review)',
  );
  reviews
    .command('list')
    .description('List contracts reported as spam or not spam, pending ones first')
    .option('--chain <name>', 'Only this chain: name or ID')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', '\nExamples:\n  $ chainstead reviews list\n  $ chainstead reviews list --chain eth --json')
    .action(async (options: { chain?: string; json?: boolean }, command: Command) => {
      const { listReviews } = await import('../actions/reviews.ts');
      await listReviews(options, command, context);
    });
  reviews
    .command('apply')
    .description('Mark contracts as spam if most reports agree, and unmark the others')
    .argument('[contracts...]', 'Contract addresses (default: all reported contracts)')
    .option('--chain <name>', 'Only this chain: name or ID')
    .addHelpText('after', EXAMPLES)
    .action(async (contracts: string[], options: { chain?: string }, command: Command) => {
      const { applyReported } = await import('../actions/reviews.ts');
      await applyReported(contracts, options, command, context);
    });
  return reviews;
}

const EXAMPLES = `
A contract is marked if more keys report it as spam than as not spam. Otherwise, a mark from earlier reports is removed.
Imported spam lists are not changed. Any key can report a contract: check the list before you apply it.

Examples:
  $ chainstead reviews apply
  $ chainstead reviews apply 0x7a250d5630b4cf539739df2c5dacb4c659f2488d --chain eth`;
