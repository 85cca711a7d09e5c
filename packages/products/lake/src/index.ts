/** Export of dataset tables to Parquet files. Start reading at `export/export-table.ts`. */
export { exportTable } from './export/export-table.ts';
export { findExportTable } from './tables/export-table.ts';
