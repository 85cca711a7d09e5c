import type { DerivedState } from '@chainstead/sync';

/** Whether all rows of a subject are counted in a state that is kept for those who were asked about, in SQL. @param subject its 20 bytes */
export function isKept(
  chainId: string,
  subject: string,
  { name, version }: Pick<DerivedState, 'name' | 'version'>,
): string {
  return `EXISTS (SELECT FROM kept_subjects AS kept JOIN derived_states AS known USING (chain_id, state)
    WHERE kept.chain_id = ${chainId} AND kept.state = '${name}' AND kept.subject = ${subject} AND kept.built_to IS NULL AND NOT kept.is_stale
      AND known.version = ${version})`;
}
