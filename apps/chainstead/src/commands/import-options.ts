export interface ImportOptions {
  readonly source?: string;
  readonly chain?: string;
  readonly address?: string;
  readonly from?: string;
  readonly trustCoverage?: boolean;
}
