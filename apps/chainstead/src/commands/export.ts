import { Argument, Command, Option } from 'commander';
import type { ExportParquetOptions } from '../actions/export-parquet.ts';
import type { CommandContext } from '../session/command-context.ts';

export function exportCommand(context: CommandContext): Command {
  const exporting = new Command('export').description('Export tables to Parquet files, or Aptos coins to a file');
  exporting
    .command('parquet')
    .description('Export final blocks of a table to Parquet files (idempotent)')
    .requiredOption(
      '--table <name>',
      'Table: erc20_transfers, the table of another dataset, or contracts.<name>_<event>',
    )
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .requiredOption('--from <block>', 'First block')
    .option('--to <block>', 'Last block (default: the newest final block; with --follow: none)')
    .requiredOption('--out <folder>', 'Output folder, which may hold several tables and chains')
    .option('--follow', 'Wait for blocks that are not final or not indexed yet')
    .addOption(new Option('--blocks-per-file <number>', 'Blocks of a file').default('10000'))
    .addHelpText('after', PARQUET_EXAMPLES)
    .action(async (options: ExportParquetOptions, command: Command) => {
      const { exportParquet } = await import('../actions/export-parquet.ts');
      await exportParquet(options, command, context);
    });
  exporting
    .command('aptos-coins')
    .description('Export Aptos coins to a file for "chainstead import"')
    .addArgument(new Argument('<file>', 'Output file; an existing file is replaced once the export is complete'))
    .option('--chain <name>', 'Network: aptos or aptos-testnet', 'aptos')
    .addHelpText('after', APTOS_EXAMPLES)
    .action(async (file: string, options: { chain: string }, command: Command) => {
      const { exportAptosCoins } = await import('../actions/export.ts');
      await exportAptosCoins(file, options, command, context);
    });
  return exporting;
}

const PARQUET_EXAMPLES = `
Safe to interrupt: the next run continues. The manifest lists ranges, rows, proof levels and SHA-256 of all files.
Blocks that were reindexed or reorganized since are written again. Guide: docs/operate/export.md.

Examples:
  $ chainstead export parquet --table erc20_transfers --chain eth --from 18000000 --to 18999999 --out ./lake
  $ chainstead export parquet --table nft_trades --chain base --from 0 --out ./lake --follow
  $ chainstead export parquet --table contracts.vault_deposit --chain eth --from 18000000 --out ./lake`;

const APTOS_EXAMPLES = `
The file has JSON Lines. The first line lists the covered versions. Format: docs/api/aptos.md.

Examples:
  $ chainstead export aptos-coins ./coins.jsonl
  $ chainstead export aptos-coins ./coins.jsonl --chain aptos-testnet`;
