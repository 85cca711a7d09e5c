import { Argument, Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

/** `chainstead export` */
export function exportCommand(context: CommandContext): Command {
  return new Command('export')
    .description('write coins of Aptos to a file that "import" takes elsewhere')
    .addArgument(new Argument('<kind>', 'what is written').choices(['aptos-coins']))
    .argument('<file>', 'where to; an existing file is replaced when all is written')
    .option('--chain <name>', 'aptos or aptos-testnet', 'aptos')
    .addHelpText('after', EXAMPLES)
    .action(async (_kind: string, file: string, options: { chain: string }, command: Command) => {
      const { exportAptosCoins } = await import('../actions/export.ts');
      await exportAptosCoins(file, options, command, context);
    });
}

const EXAMPLES = `
JSON Lines; the first says which versions are covered. The format: docs/aptos.md.

Examples:
  $ chainstead export aptos-coins ./coins.jsonl
  $ chainstead export aptos-coins ./coins.jsonl --chain aptos-testnet`;
