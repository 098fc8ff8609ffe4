import { runInNewContext } from 'node:vm';
import { parseObject } from '../../lib/json.ts';

export interface ExampleResult {
  title: string;
  request: string;
  status: number;
  /** The failed expectations, with the actual values. */
  failures: string[];
  answer: string;
}

type Variables = Record<string, unknown>;

/**
 * Sends the examples of an `.http` file one after the other. Supports the part of the format that
 * docs/examples uses, which editors with httpYac also support: variables, named responses, `{{expressions}}`,
 * and expectations. The package that reads the whole format brings 149 others.
 */
export async function* sendExamples(source: string): AsyncGenerator<ExampleResult> {
  const [head = '', ...blocks] = source.split(/^### /m);
  const variables: Variables = { process: { env: process.env, pid: process.pid } };
  for (const [, name, value = ''] of head.matchAll(/^@(\w+) = (.*)$/gm))
    variables[String(name)] = filled(value, variables);
  for (const block of blocks) yield await sendExample(block, variables);
}

async function sendExample(block: string, variables: Variables): Promise<ExampleResult> {
  const [title = '', ...lines] = block.split('\n');
  const text = lines.filter((line) => !/^(?:# |\?\? )/.test(line)).join('\n');
  const [head = '', ...body] = filled(text.trim(), variables).split('\n\n');
  const [request = '', ...headers] = head.split('\n');
  const [method, url = ''] = request.split(' ');
  const response = await fetch(url, {
    ...(method && { method }),
    headers: headers.map((line) => line.split(/: (.*)/, 2) as [string, string]),
    ...(body.length > 0 && { body: body.join('\n\n') }),
  });
  const { status } = response;
  const answer = await response.text();
  const parsedBody = parseObject(answer);
  variables.response = { status, headers: Object.fromEntries(response.headers), parsedBody };
  // Later examples use the response by this name.
  const name = /^# @name (\w+)$/m.exec(block)?.[1];
  if (name !== undefined)
    Object.assign(variables, { [name]: parsedBody, [`${name}Response`]: variables.response });
  const expectations = lines.filter((line) => line.startsWith('?? ')).map((line) => line.slice(3));
  const failures = expectations.flatMap((line) => checkExpectation(filled(line, variables), variables));
  return { title, request, status, failures, answer };
}

function filled(text: string, variables: Variables): string {
  return text.replace(/\{\{(.+?)\}\}/g, (_, expression) => String(evaluate(expression, variables)));
}

/**
 * Checks an expectation such as `status == 200`, `header etag exists` or `js response.parsedBody.credits >
 * 0`, and returns the actual value if it fails.
 */
function checkExpectation(expectation: string, variables: Variables): string[] {
  const form = /^(status|header|js) ?(.*?) (==|>|exists)(?: (.*))?$/.exec(expectation);
  if (!form) return [`"${expectation}" is not a known form of expectation`];
  const [, kind, subject = '', operator, wanted = ''] = form;
  const expression = kind === 'header' ? `response.headers[${JSON.stringify(subject)}]` : subject;
  const found = evaluate(kind === 'status' ? 'response.status' : expression, variables);
  const known = operator === '>' ? Number(found) > Number(wanted) : String(found) === wanted;
  const holds = operator === 'exists' ? found !== undefined : known;
  return holds ? [] : [`expected ${expectation}, found ${JSON.stringify(found)}`];
}

/** A response may lack the field that an expression reads; the value is then undefined. */
function evaluate(expression: string, variables: Variables): unknown {
  try {
    return runInNewContext(expression, variables);
  } catch {
    return undefined;
  }
}
