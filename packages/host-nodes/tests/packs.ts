import type { ExtractedNode } from '../describe-node.ts';
import { extractHostNodes, type Extraction, type ExtractionOptions } from '../extract-host-nodes.ts';

export type PackFiles = Record<string, string>;

/** Extracts a pack that is written down in a test. */
export function extract(files: PackFiles | string, options?: ExtractionOptions): Extraction {
  const entries = typeof files === 'string' ? { '__init__.py': files } : files;
  return extractHostNodes(new Map(Object.entries(entries)), { name: 'our-pack', ...options });
}

/** The names a pack lists, in its order. */
export function namesOf(files: PackFiles | string): string[] {
  return extract(files).nodes.map(({ name }) => name);
}

/** The only node of a pack. */
export function nodeOf(files: PackFiles | string): ExtractedNode {
  const { nodes, reason } = extract(files);
  const [node] = nodes;
  if (nodes.length !== 1 || !node) throw new Error(`It lists ${nodes.length} nodes. ${reason ?? ''}`);
  return node;
}

/** What `RESULT` is after the code ran, as JSON; undefined where it is open. */
export function resultOf(code: string, others: PackFiles = {}): unknown {
  const node = nodeOf({
    '__init__.py': `${code}
class Node:
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"result": RESULT}}
    RETURN_TYPES = ()
    FUNCTION = "run"
NODE_CLASS_MAPPINGS = {"Node": Node}
`,
    ...others,
  });
  if (node.open.some((why) => why.startsWith('input_types: .required.result'))) return undefined;
  return node.input_types === undefined ? undefined : JSON.parse(node.input_types).required.result;
}

/** What a case says in its last line, a comment of JSON, that `RESULT` is; undefined where it has none. */
export function saidBy(code: string): unknown {
  const [, json] = /\n# (.*)$/.exec(code) ?? [];
  return json === undefined ? undefined : JSON.parse(json);
}

/** A class as packs write them. */
export function nodeClass(name: string, body = ''): string {
  return `class ${name}:
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"image": ("IMAGE",)}}
    RETURN_TYPES = ("IMAGE",)
    FUNCTION = "run"
    CATEGORY = "ours"
${body}
`;
}
