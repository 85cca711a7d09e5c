/** The result of a tool. */
export interface ToolResult {
  /** Texts for the agent: first notes such as the covered blocks, then the data. */
  readonly texts: readonly string[];
  readonly isError: boolean;
}
