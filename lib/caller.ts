/** The person or program that a valid access token identifies. */
export interface Caller {
  userId: string;
  isAdmin: boolean;
}
