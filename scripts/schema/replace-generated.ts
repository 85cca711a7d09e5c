/** How the lines around a generated part are written. */
export type CommentStyle = 'sql' | 'markdown';

/**
 * Replaces what stands between the lines `Generated: <subject>` and `End of generated: <subject>`.
 * @throws Error that names the missing lines
 */
export function replaceGenerated(text: string, style: CommentStyle, subject: string, generated: string): string {
  const [begin, end] = [`Generated: ${subject}`, `End of generated: ${subject}`].map((line) =>
    style === 'sql' ? `-- ${line}\n` : `<!-- ${line} -->\n`,
  ) as [string, string];
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`There are no lines "${begin.trim()}" and "${end.trim()}"`);
  return `${text.slice(0, from + begin.length)}${generated}${text.slice(to)}`;
}
