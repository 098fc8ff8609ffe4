const maxViolations = 20;
const maxEvidence = 2000;

/** What a check has done and found. The counts show that a check without violations has done its work. */
export class Report {
  readonly counts: Record<string, number> = {};
  readonly violations: string[] = [];

  count(what: string, by = 1): void {
    this.counts[what] = (this.counts[what] ?? 0) + by;
  }

  /** Adds a violation with what is needed to reproduce it. Too many of one kind would only hide the others. */
  violate(what: string, ...evidence: unknown[]): void {
    this.count('violations');
    if (this.violations.length < maxViolations)
      this.violations.push([what, ...evidence.map(textOf)].join(' · '));
  }
}

function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : String(JSON.stringify(value));
  return text.length > maxEvidence ? `${text.slice(0, maxEvidence)}…` : text;
}
