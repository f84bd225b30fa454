select request.offer_file_access('admin_api_v1_1_0');
