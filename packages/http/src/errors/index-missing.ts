import { ApiError } from './api-error.ts';

/** A 503: the rows need an index that does not exist, because a bulk load skipped it or it has not been built yet. */
export class IndexMissingError extends ApiError {
  constructor(names: readonly string[]) {
    super({
      code: 'INDEX_MISSING',
      status: 503,
      message: `Database indexes for this request are missing (${names.join(', ')}): build them with \`chainstead indexes\``,
      details: { indexes: names },
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
      retryable: true,
    });
  }
}

/** An index worth skipping takes minutes to build. */
const RETRY_AFTER_SECONDS = '60';

/** @throws IndexMissingError if any index is missing */
export function requireIndexes(missing: readonly string[]): void {
  if (missing.length > 0) throw new IndexMissingError(missing);
}
