/** What code-colors.ts uses of highlight.js, whose own types bring those of browsers into every program. */
interface Highlighter {
  registerLanguage: (name: string, language: object) => void;
  registerAliases: (names: string[], of: { languageName: string }) => void;
  getLanguage: (name: string) => object | undefined;
  highlight: (code: string, options: { language: string; ignoreIllegals: boolean }) => { value: string };
}

declare const highlighter: Highlighter;
export default highlighter;
