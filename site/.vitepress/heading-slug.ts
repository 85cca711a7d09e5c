/** The anchor of a heading on GitHub: lower case, spaces as hyphens, no punctuation. */
export function headingSlug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}_\- ]/gu, '')
    .replaceAll(' ', '-');
}
