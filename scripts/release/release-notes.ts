/** What CHANGELOG.md says of one version. */

const HEADING = /^## \[([^\]]+)\]/;

/**
 * The notes of a release: the section of its version, without the heading.
 * @param tag `v1.2.3`. @param version of package.json, which the tag has to name. @param changelog text of CHANGELOG.md
 * @throws {RangeError} where the tag names another version, or the changelog has nothing about it
 */
export function releaseNotes(tag: string, version: string, changelog: string): string {
  if (tag !== `v${version}`)
    throw new RangeError(`The tag ${tag} is not v${version}, the version of package.json. Change one of them`);
  const lines = changelog.split('\n');
  const start = lines.findIndex((line) => HEADING.exec(line)?.[1] === version);
  if (start < 0)
    throw new RangeError(
      `CHANGELOG.md has no section [${version}]. Name the section [Unreleased] after it, with the date`,
    );
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => HEADING.test(line));
  const notes = rest
    .slice(0, end < 0 ? undefined : end)
    .join('\n')
    .trim();
  if (notes === '')
    throw new RangeError(`The section [${version}] of CHANGELOG.md is empty. Say what has changed`);
  return `${notes}\n`;
}
