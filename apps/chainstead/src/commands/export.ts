import { Argument, Command } from 'commander';
import type { CommandContext } from '../session/command-context.ts';

/** `chainstead export` */
export function exportCommand(context: CommandContext): Command {
  return new Command('export')
    .description('Export Aptos coins to a file for "chainstead import"')
    .addArgument(new Argument('<kind>', 'Kind of data').choices(['aptos-coins']))
    .argument('<file>', 'Output file; an existing file is replaced once the export is complete')
    .option('--chain <name>', 'Network: aptos or aptos-testnet', 'aptos')
    .addHelpText('after', EXAMPLES)
    .action(async (_kind: string, file: string, options: { chain: string }, command: Command) => {
      const { exportAptosCoins } = await import('../actions/export.ts');
      await exportAptosCoins(file, options, command, context);
    });
}

const EXAMPLES = `
The file has JSON Lines. The first line lists the covered versions. Format: docs/api/aptos.md.

Examples:
  $ chainstead export aptos-coins ./coins.jsonl
  $ chainstead export aptos-coins ./coins.jsonl --chain aptos-testnet`;
