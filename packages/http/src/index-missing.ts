import { ApiError } from './api-error.ts';

/** A 503: rows are found by an index that is not there, since a bulk load left it out or nobody has built it yet. */
export class IndexMissingError extends ApiError {
  constructor(names: readonly string[]) {
    super({
      code: 'INDEX_MISSING',
      status: 503,
      message: `Indexes that this is read by are missing (${names.join(', ')}): build them with \`chainstead indexes\``,
      details: { indexes: names },
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
      retryable: true,
    });
  }
}

/** Building takes minutes where it is worth to be left out. */
const RETRY_AFTER_SECONDS = '60';

/** @throws IndexMissingError when there are any */
export function requireIndexes(missing: readonly string[]): void {
  if (missing.length > 0) throw new IndexMissingError(missing);
}
