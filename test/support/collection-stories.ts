export { FAILURE, OTHER_AMOUNT_CENTS, SECOND, STRANGER, SUCCESS } from './settle-stories.ts';
