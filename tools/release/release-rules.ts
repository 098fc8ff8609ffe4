/** The inputs for cutting a release. */
export interface Cut {
  current: string;
  next: string;
  /** The uncommitted changes, as git prints them. */
  unclean: string;
  /** The tree of the commit, and the one that last passed the gate. */
  tree: string;
  passed: string;
  changeLog: string;
}

const version = /^(\d+)\.(\d+)\.(\d+)$/;

/** Why no release can be cut. */
export function cutProblems({ current, next, unclean, tree, passed, changeLog }: Cut): string[] {
  const rules: [isBroken: boolean, sentence: string][] = [
    [
      !version.test(current),
      `package.json names ${current}, which is not a release: npm version MAJOR.MINOR.PATCH --no-git-tag-version --workspaces=false && npm run openapi`,
    ],
    [
      version.test(current) && !successors(current).includes(next),
      `The next version must be ${successors(current).join(' or ')}.`,
    ],
    [unclean !== '', `The tree has changes that are not committed:\n${unclean}`],
    [passed !== tree, 'The gate has not passed on this commit: run .ci/run first.'],
    [
      !new RegExp(`^## ${current.replaceAll('.', '\\.')}$`, 'm').test(changeLog),
      `docs/CHANGELOG.md has no heading "## ${current}". Remove "(unreleased)" from it.`,
    ],
  ];
  return rules.flatMap(([isBroken, sentence]) => (isBroken ? [sentence] : []));
}

function successors(current: string): string[] {
  const [major = 0, minor = 0, patch = 0] = version.exec(current)?.slice(1).map(Number) ?? [];
  return [`${major}.${minor}.${patch + 1}`, `${major}.${minor + 1}.0`, `${major + 1}.0.0`];
}
