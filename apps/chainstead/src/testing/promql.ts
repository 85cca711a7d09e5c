/** What Prometheus expressions ask for, by Prometheus' own grammar. */
import { parser } from '@prometheus-io/lezer-promql';

/** A condition on a label: `status=~"5.."`. */
export interface LabelMatcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

/** One place of an expression where series are chosen. */
export interface SeriesSelector {
  readonly metric: string;
  readonly matchers: readonly LabelMatcher[];
  /** Labels that what stands around it groups or matches its series by. */
  readonly groupedBy: readonly string[];
}

type SyntaxNode = ReturnType<typeof parser.parse>['topNode'];

/** All selectors of an expression. @throws SyntaxError where it is none */
export function readSelectors(expression: string): readonly SeriesSelector[] {
  const tree = parser.parse(expression);
  const found: SeriesSelector[] = [];
  tree.iterate({
    enter(node) {
      if (node.type.isError)
        throw new SyntaxError(
          `Not PromQL at ${node.from}: ${expression.slice(Math.max(0, node.from - 20), node.to + 20)}`,
        );
      if (node.name === 'VectorSelector') found.push(readSelector(node.node, expression));
    },
  });
  return found;
}

function readSelector(node: SyntaxNode, expression: string): SeriesSelector {
  const textOf = (child: SyntaxNode | null): string => (child === null ? '' : expression.slice(child.from, child.to));
  const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
  return {
    metric: textOf(node.getChild('Identifier')),
    matchers: matchers.map((matcher) => ({
      label: textOf(matcher.getChild('LabelName')),
      operator: textOf(matcher.getChild('MatchOp')),
      value: textOf(matcher.getChild('StringLiteral')).slice(1, -1),
    })),
    groupedBy: groupingsAround(node).flatMap((labels) => labels.getChildren('LabelName').map(textOf)),
  };
}

/** The lists of labels behind `by` and `on` of all expressions that the node's series go into. */
function groupingsAround(node: SyntaxNode): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let inner = node, around = node.parent; around !== null; inner = around, around = around.parent) {
    const clause = around.getChild('AggregateModifier') ?? around.getChild('MatchingModifierClause');
    const isByName = clause !== null && (clause.getChild('By') ?? clause.getChild('On')) !== null;
    // What stands behind `group_left` is no condition.
    if (isByName) found.push(...clause.getChildren('GroupingLabels').slice(0, 1));
    if (isCondition(inner, around)) break;
  }
  return found;
}

/** Whether it only decides which series of the other side stay: right of `and`, `unless`. */
function isCondition(node: SyntaxNode, around: SyntaxNode): boolean {
  const isSetOperation = around.getChild('And') !== null || around.getChild('Unless') !== null;
  return isSetOperation && around.lastChild?.from === node.from && around.lastChild.to === node.to;
}
