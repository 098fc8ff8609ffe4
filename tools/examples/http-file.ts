import { runInNewContext } from 'node:vm';
import { parseObject } from '../../lib/json.ts';

/**
 * Reads and sends the examples of an `.http` file. It knows as much of the format as docs/examples uses, which editors
 * with httpYac send too: variables, named answers, `{{expressions}}`, and what an answer must be. The package that
 * reads all of it brings 149 others.
 */

interface Example {
  title: string;
  /** Later examples use its answer by this name. */
  name: string | undefined;
  method: string;
  url: string;
  headers: [name: string, value: string][];
  body: string;
  expectations: string[];
}

export interface HttpFile {
  variables: [name: string, value: string][];
  examples: Example[];
}

export interface ExampleResult {
  title: string;
  request: string;
  status: number;
  /** The expectation that the response did not meet. */
  failures: string[];
  answer: string;
}

export function parseHttpFile(source: string): HttpFile {
  const [head = '', ...blocks] = source.split(/^### /m);
  const variables = [...head.matchAll(/^@(\w+) = (.*)$/gm)].map(
    ([, name, value]) => [String(name), String(value)] satisfies [string, string],
  );
  return { variables, examples: blocks.map(parseExample) };
}

function parseExample(block: string): Example {
  const [title = '', ...lines] = block.split('\n');
  const name = lines.map((line) => /^# @name (\w+)$/.exec(line)?.[1]).find((found) => found !== undefined);
  const expectations = lines.filter((line) => line.startsWith('?? ')).map((line) => line.slice(3));
  const request = lines
    .filter((line) => !/^(?:# |\?\? )/.test(line))
    .join('\n')
    .trim();
  const [head = '', ...body] = request.split('\n\n');
  const [start = '', ...headers] = head.split('\n');
  const [, method = '', url] = /^(\w+) (.+)$/.exec(start) ?? [];
  if (url === undefined) throw new Error(`The example "${title}" has no request.`);
  return {
    title,
    name,
    method,
    url,
    headers: headers.map((line) => line.split(/: (.*)/, 2) as [string, string]),
    body: body.join('\n\n'),
    expectations,
  };
}

/** Sends the examples one after the other, as later ones use answers of earlier ones. */
export async function* sendExamples({ variables, examples }: HttpFile): AsyncGenerator<ExampleResult> {
  const context: Record<string, unknown> = { process: { env: process.env, pid: process.pid } };
  const fill = (text: string) =>
    text.replace(/\{\{(.+?)\}\}/g, (_, expression) => String(evaluate(expression, context)));
  for (const [name, value] of variables) context[name] = fill(value);
  for (const { title, name, method, url, headers, body, expectations } of examples) {
    const address = fill(url);
    const answer = await fetch(address, {
      method,
      headers: headers.map(([header, value]): [string, string] => [header, fill(value)]),
      ...(body !== '' && { body: fill(body) }),
    });
    const text = await answer.text();
    const response = {
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      parsedBody: parseObject(text),
    };
    context.response = response;
    if (name !== undefined)
      Object.assign(context, { [name]: response.parsedBody, [`${name}Response`]: response });
    const failures = expectations.map(fill).flatMap((expectation) => checkExpectation(expectation, context));
    yield { title, request: `${method} ${address}`, status: answer.status, failures, answer: text };
  }
}

/**
 * Checks an expectation such as `status == 200`, `header etag exists` or `js response.parsedBody.credits > 0`, and
 * returns what was found instead if it does not hold.
 */
function checkExpectation(expectation: string, context: Record<string, unknown>): string[] {
  const form = /^(status|header|js) ?(.*?) (==|>|exists)(?: (.*))?$/.exec(expectation);
  if (!form) return [`"${expectation}" is not a known form of expectation`];
  const [, kind, subject = '', operator, wanted = ''] = form;
  const expression = {
    status: 'response.status',
    header: `response.headers[${JSON.stringify(subject)}]`,
    js: subject,
  };
  const found = evaluate(expression[kind as keyof typeof expression], context);
  const holds = {
    '==': String(found) === wanted,
    '>': Number(found) > Number(wanted),
    exists: found !== undefined,
  };
  return holds[operator as keyof typeof holds]
    ? []
    : [`expected ${expectation}, found ${JSON.stringify(found)}`];
}

/** An answer may lack the field that an expression reads; the value then is undefined. */
function evaluate(expression: string, context: Record<string, unknown>): unknown {
  try {
    return runInNewContext(expression, context);
  } catch {
    return undefined;
  }
}
