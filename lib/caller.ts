/** The person or program behind a valid access token. */
export interface Caller {
  userId: string;
  isAdmin: boolean;
}
