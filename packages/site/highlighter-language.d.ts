declare const language: object;
export default language;
