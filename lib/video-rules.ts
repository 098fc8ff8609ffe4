/** The rules of the video operations that an operator can change. */
export interface VideoRules {
  VIDEO_MODELS_EXTRA: readonly string[];
  VIDEO_EXTEND_SOURCE: 'both' | 'either';
}
