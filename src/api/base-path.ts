/** The path of the API, with its version. It ends the base address that merchants are given. */
export const BASE_PATH = '/api/v1';
