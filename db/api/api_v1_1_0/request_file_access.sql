select request.offer_file_access('api_v1_1_0');
